// Verifies access tokens in this process's own memory, kept true by asking the service what changed.

import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const MAX_AGE = 2_000; // Milliseconds after which what changed is in force here.
const MOST = 100_000; // Answers kept.

type Answer = {
  user: { id: string; name: string };
  membership: { role: string; status: string };
  session: { id: string; expiresAt: string };
  tokenExpiresAt: string;
};
type Verdict = { valid: false } | ({ valid: true } & Answer);
type Changes = { cursor: string; everything: boolean; sessions: string[]; users: string[]; keyExpiresAt: string | null };
type Moment = { steady: number; wall: number };

const now = (): Moment => ({ steady: performance.now(), wall: Date.now() });

/** The larger of the two differences: one clock is never set, the other runs on while the machine sleeps. */
function age(since: Moment): number {
  const { steady, wall } = now();
  return wall < since.wall ? Infinity : Math.max(steady - since.steady, wall - since.wall);
}

class Refused extends Error {
  status: number;
  constructor(status: number) {
    super(`the service answered ${status}`);
    this.status = status;
  }
}

/** One for each organization, for whose slug alone its answers count, with a key that has the scope `verify`. */
export class Verifier {
  base: string;
  headers: Record<string, string>;
  answers = new Map<string, Answer>();
  /** When the last question what changed BEGAN, of those that were answered. */
  polled: Moment | null = null;
  cursor: string | null = null;
  keyEnds: string | null = null;
  /** What was named while questions about tokens were under way. */
  underWay = new Set<{ named: Set<string>; everything: boolean }>();

  constructor(url: string, slug: string, key: string) {
    this.base = `${url.replace(/\/$/, "")}/api/v1/public`;
    this.headers = { "X-Org-Slug": slug, "X-API-Key": key, "Content-Type": "application/json" };
    void this.follow();
  }

  /** The service's answer about a live token, else null. Throws when nobody can say. */
  async verify(token: string): Promise<Answer | null> {
    const known = this.answers.get(token);
    if (known && this.counts(known)) return known;
    const cursor = this.cursor;
    const meanwhile = { named: new Set<string>(), everything: false };
    this.underWay.add(meanwhile);
    try {
      const body = JSON.stringify(cursor ? { token, after: cursor } : { token });
      const verdict = await this.ask<Verdict>("/verify", 5_000, { method: "POST", body });
      if (!verdict.valid) return null;
      const wasNamed = meanwhile.named.has(verdict.session.id) || meanwhile.named.has(verdict.user.id);
      if (cursor && !meanwhile.everything && !wasNamed) {
        this.answers.set(token, verdict);
        if (this.answers.size > MOST) this.answers.delete(this.answers.keys().next().value!);
      }
      return verdict;
    } catch (error) {
      if (error instanceof Refused && [401, 403].includes(error.status)) this.forget(); // The key opens nothing any more.
      throw error;
    } finally {
      this.underWay.delete(meanwhile);
    }
  }

  counts(answer: Answer): boolean {
    const ends = [answer.tokenExpiresAt, answer.session.expiresAt, this.keyEnds];
    const fresh = this.polled !== null && age(this.polled) < MAX_AGE;
    return fresh && ends.every((end) => end === null || Date.now() < Date.parse(end));
  }

  /** Asks what changed, again and again. */
  async follow(): Promise<void> {
    for (;;) {
      const began = now();
      const wait = this.polled && age(this.polled) < MAX_AGE ? Math.min(1_000, Math.floor(0.4 * MAX_AGE)) : 0;
      const after = this.cursor ? `&after=${encodeURIComponent(this.cursor)}` : "";
      try {
        this.apply(began, await this.ask<Changes>(`/changes?wait=${wait}${after}`, MAX_AGE));
      } catch (error) {
        if (error instanceof Refused || error instanceof SyntaxError) this.forget();
        // No answer: what is kept grows too old by itself.
      }
      // No reason for a process to stay that has nothing else to do.
      await new Promise((ready) => setTimeout(ready, Math.max(0, MAX_AGE / 4 - age(began))).unref());
    }
  }

  apply(began: Moment, changes: Changes): void {
    if (changes.everything) this.drop();
    const named = new Set([...changes.sessions, ...changes.users]);
    for (const meanwhile of this.underWay) named.forEach((id) => meanwhile.named.add(id));
    if (named.size > 0) {
      for (const [token, { session, user }] of this.answers) {
        if (named.has(session.id) || named.has(user.id)) this.answers.delete(token);
      }
    }
    this.cursor = changes.cursor;
    this.keyEnds = changes.keyExpiresAt;
    this.polled = began;
  }

  forget(): void {
    this.drop();
    this.cursor = this.polled = null;
  }

  drop(): void {
    this.answers.clear();
    for (const meanwhile of this.underWay) meanwhile.everything = true;
  }

  async ask<T>(path: string, patience: number, init: RequestInit = {}): Promise<T> {
    const signal = AbortSignal.timeout(patience);
    const response = await fetch(this.base + path, { ...init, headers: this.headers, signal, redirect: "error" });
    if (response.status !== 200) throw new Refused(response.status);
    return ((await response.json()) as { data: T }).data;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const verifier = new Verifier(process.env.AUTH_URL!, "acme", process.env.API_KEY!);
  const server = createServer(async (request, response) => {
    try {
      const who = await verifier.verify((request.headers.authorization ?? "").replace(/^Bearer /, ""));
      response.statusCode = who === null ? 401 : who.membership.status === "active" ? 200 : 403;
      response.end(response.statusCode === 200 ? `Reports for ${who!.user.name}` : "");
    } catch {
      response.statusCode = 503;
      response.end();
    }
  });
  server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
    const address = server.address() as { port: number };
    console.log(`http://127.0.0.1:${address.port}`);
  });
}
