// Lets in who has a live session at Tenant Auth: a middleware for node:http, Express and whatever else calls (request, response, next).

import { createServer, type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";

const PATIENCE = 5_000; // Milliseconds. A server that does not answer ends nobody's session: the request is 503.
const LONGEST = 2_048; // Characters of an address to come back to.
const PLAIN = /^(?:\/(?!\.+(?:\/|$))[\w.~@+-]+)*\/?$/; // A path that every router reads alike: no `..`, `//`, `%2e`.

/** The data of `POST /public/verify`, of an active member. */
export type Who = {
  user: { id: string; name: string; email: string };
  membership: { role: "org_admin" | "member"; status: string; metadata: Record<string, unknown> };
  org: { id: string; slug: string; plan: string };
  session: { id: string; expiresAt: string };
};
type Options = {
  url: string;
  slug: string;
  apiKey: string;
  origins?: string[];
  cookieDomain?: string;
  public?: string[];
  signIn?: string;
  reachedAt?: string;
};
type Asking = IncomingMessage & { who?: Who | undefined; originalUrl?: string };
type Answered = { status: number; answer: any; cookies: string[]; retryAfter: string | null };

/** An answer instead of the page. */
class Refused extends Error {
  status: number;
  code: string;
  retryAfter: string | null;
  constructor(status: number, code: string, message: string, retryAfter: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

const unavailable = () => new Refused(503, "unavailable", "Try again in a moment.", "2");

/** Our fault, and not the person's session. */
function notSetUp(why: string): Refused {
  console.error("Tenant Auth", why);
  return new Refused(500, "internal", "Something is not set up.");
}

/**
 * Calls `next` with `request.who` set, or answers; at `public` paths it is undefined. A browser that opens a page without a session is sent
 * to `signIn`, an address, and comes back to `reachedAt`, our own origin.
 */
export function tenantAuth(options: Options) {
  const pages = options.public ?? [];
  if (pages.some((page) => !page.startsWith("/"))) throw new Error("public: each path begins with /");
  const signIn = options.signIn ? new URL(options.signIn) : undefined;
  const reachedAt = options.reachedAt?.replace(/\/$/, "");
  const base = `${options.url.replace(/\/$/, "")}/api/v1`;
  const domain = options.cookieDomain ? `; Domain=${options.cookieDomain}` : "";
  const ended = ["access_token", "refresh_token"].map((name) => `${name}=; Path=/; Max-Age=0; HttpOnly; Secure${domain}`);

  async function ask(path: string, headers: Record<string, string>, body: object): Promise<Answered> {
    let asked: Answered;
    try {
      const response = await fetch(base + path, {
        method: "POST",
        headers: { "X-Org-Slug": options.slug, "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
        redirect: "error", // Keys and tokens go to the server and nowhere else.
        signal: AbortSignal.timeout(PATIENCE),
      });
      const { status, headers: said } = response;
      asked = { status, answer: await response.json(), cookies: said.getSetCookie(), retryAfter: said.get("retry-after") };
    } catch {
      throw unavailable();
    }
    const { status, answer, retryAfter } = asked;
    if (["unknown_organization", "invalid_slug"].includes(answer.code)) {
      throw notSetUp(`knows no organization "${options.slug}": is the slug right?`);
    }
    if (status === 429) throw new Refused(429, answer.code, answer.message, retryAfter);
    if (![200, 401, 403].includes(status)) throw unavailable();
    return asked;
  }

  /** Who holds the token, or null when it is no live one. */
  async function verify(token: string): Promise<Who | null> {
    const { status, answer } = await ask("/public/verify", { "X-API-Key": options.apiKey }, { token });
    if (status !== 200) throw notSetUp(`refused the API key for "${options.slug}": ${answer.code}`);
    return answer.data.valid ? answer.data : null;
  }

  /** Whether the path is one of them, or a plain one below one that ends in a slash ("/" is the first page alone). */
  function isPublic(path: string): boolean {
    const isBelow = pages.some((page) => page.endsWith("/") && page !== "/" && path.startsWith(page));
    return pages.includes(path) || (isBelow && PLAIN.test(path));
  }

  /** The sign-in page, told where to come back to: the path is the request's, never the host. Undefined where a program asks. */
  function wayIn(request: Asking): string | undefined {
    if (!signIn || !isNavigation(request) || bearer(request) !== undefined) return undefined;
    const asked = request.originalUrl ?? request.url ?? "";
    const trimmed = (path: string) => path.replace(/\/$/, "");
    if (trimmed(pathOf(asked)) === trimmed(signIn.pathname)) return undefined; // It may lie behind this middleware.
    const said = new URLSearchParams({ org: options.slug });
    const address = `${reachedAt}${asked}`;
    if (reachedAt && asked.startsWith("/") && address.length <= LONGEST) said.set("next", address);
    return `${signIn.href}#${said}`;
  }

  async function judge(request: Asking, response: ServerResponse): Promise<Who | undefined> {
    if (isPublic(pathOf(request.url ?? ""))) return undefined;
    const token = bearer(request);
    let who: Who | null;
    if (token !== undefined) {
      who = await verify(token); // It counts alone, and is never refreshed.
    } else {
      judgeOrigin(request, options.origins ?? []);
      const [access, refresh] = ["access_token", "refresh_token"].map((name) => cookie(request, name));
      who = access ? await verify(access) : null;
      if (!who && refresh) {
        const { status, answer, cookies } = await ask("/auth/refresh", { Cookie: `refresh_token=${refresh}` }, {});
        if (status === 401 && answer.code === "session_required") cookies.push(...ended); // The session is over.
        if (cookies.length > 0) settle(response, cookies); // The server's, as they are.
        if (status !== 200) throw new Refused(status, answer.code, answer.message);
        who = await verify(answer.data.accessToken);
        if (!who) throw new Refused(403, "not_admitted", "This session gives no access here. Log in again.");
      }
    }
    if (!who) throw new Refused(401, "session_required", "Log in.");
    if (who.membership.status !== "active") throw new Refused(403, "suspended", "This membership is suspended.");
    return who;
  }

  return async (request: Asking, response: ServerResponse, next: () => void) => {
    try {
      request.who = await judge(request, response);
    } catch (error) {
      const { status, code, message, retryAfter } = error instanceof Refused ? error : unavailable();
      const page = status === 401 ? wayIn(request) : undefined;
      response.statusCode = page ? 303 : status;
      if (page) response.setHeader("Location", page);
      else if (status === 401) response.setHeader("WWW-Authenticate", "Bearer"); // RFC 9110: a 401 names how to log in.
      if (retryAfter) response.setHeader("Retry-After", retryAfter);
      response.setHeader("Content-Type", "application/json").setHeader("Cache-Control", "no-store");
      response.end(JSON.stringify({ status: "error", code, message }));
      return;
    }
    next();
  };
}

/**
 * Adds these cookies to the answer when its head is written, beside those that the route sets. A cache that kept it would hand one person's
 * session to the next: `no-store`, whatever the route says, and nothing that goes before it (RFC 9213).
 */
function settle(response: ServerResponse, cookies: string[]) {
  type Head = OutgoingHttpHeaders | OutgoingHttpHeader[];
  const write: (status: number, message?: string) => ServerResponse = response.writeHead.bind(response);
  response.writeHead = (status: number, message?: string | Head, head?: Head) => {
    const set = head ?? (typeof message === "string" ? undefined : message) ?? {};
    if (Array.isArray(set)) {
      const flat: OutgoingHttpHeader[] = Array.isArray(set[0]) ? set.flat() : set;
      const pairs = flat.flatMap((name, n) => (n % 2 === 0 ? [[String(name), flat[n + 1] ?? ""] as const] : []));
      for (const [name] of pairs) response.removeHeader(name);
      for (const [name, value] of pairs) response.appendHeader(name, typeof value === "number" ? String(value) : value);
    } else {
      for (const [name, value] of Object.entries(set)) if (value !== undefined) response.setHeader(name, value);
    }
    const own = [response.getHeader("Set-Cookie") ?? []].flat().map(String);
    response.setHeader("Set-Cookie", [...cookies, ...own]).setHeader("Cache-Control", "no-store");
    const goesBefore = (name: string) => name === "surrogate-control" || name.endsWith("cdn-cache-control");
    for (const name of response.getHeaderNames().filter(goesBefore)) response.removeHeader(name);
    return write(status, typeof message === "string" ? message : undefined);
  };
}

/** The token of a Bearer, or undefined without one. */
function bearer(request: IncomingMessage): string | undefined {
  const [scheme = "", ...token] = (request.headers.authorization ?? "").split(" ");
  return scheme.toLowerCase() === "bearer" ? token.join(" ").trim() : undefined;
}

const pathOf = (address: string) => address.replace(/\?.*/s, "");

/** Whether a browser asks for a page to show. One that is too old for `Sec-Fetch-Mode` asks for HTML. */
function isNavigation(request: IncomingMessage): boolean {
  const { "sec-fetch-mode": mode, accept = "" } = request.headers;
  const ranges = accept.toLowerCase().split(",").map((text) => text.split(";").map((part) => part.trim()));
  const isHtml = ranges.some((parts) => parts[0] === "text/html" && !parts.some((part) => /^q=[0.]*$/.test(part)));
  return request.method === "GET" && (mode === undefined ? isHtml : mode === "navigate");
}

/** The value of a cookie. Two of one name are nobody's: somebody may have planted one. */
function cookie(request: IncomingMessage, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  const values = new Set(pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1)));
  if (values.size > 1) throw new Refused(401, "session_required", "Log in.");
  return [...values][0];
}

/** A browser attaches cookies to every request that a page makes: what changes something must come from our own. */
function judgeOrigin(request: IncomingMessage, origins: string[]) {
  const { origin, host, upgrade, "sec-fetch-site": site } = request.headers;
  if (["GET", "HEAD", "OPTIONS"].includes(request.method ?? "") && !upgrade) return;
  if (origin !== undefined && origins.includes(origin)) return;
  if (site === "same-origin" || site === "none") return;
  const page = URL.parse(origin ?? "");
  const isSafe = page?.protocol === "https:" || ["localhost", "127.0.0.1"].includes(page?.hostname ?? "");
  if (site === undefined && (origin === undefined || (isSafe && page?.host === host))) return;
  throw new Refused(403, "forbidden_origin", "This page may not do that.");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { AUTH_URL = "", API_KEY = "", REACHED_AT: reachedAt = "" } = process.env;
  const pages = ["/health", "/assets/"];
  const guard = tenantAuth({ url: AUTH_URL, slug: "acme", apiKey: API_KEY, public: pages, signIn: `${AUTH_URL}/sign-in`, reachedAt });
  const server = createServer((request: Asking, response) => {
    void guard(request, response, () => {
      const said = request.who ? `Reports for ${request.who.user.name}\n` : "For everybody\n";
      response.setHeader("Content-Type", "text/plain; charset=utf-8").end(said);
    });
  });
  server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
    const address = server.address();
    if (address && typeof address === "object") console.log(`http://127.0.0.1:${address.port}`);
  });
}
