// Logs in, verifies and refreshes with what @hey-api/openapi-ts made.
import { client } from "./tenant-auth/client.gen.js";
import { login, refresh, verifyToken } from "./tenant-auth/index.js";
import type { Error as Refusal } from "./tenant-auth/index.js";

const headers = { "X-Org-Slug": "acme" };
client.setConfig({ baseUrl: process.env.AUTH_URL + "/api/v1" });

/** The data of a success; a refusal names its code. */
function data<D>({ data, error }: { data?: { data: D }; error?: Refusal }): D {
  if (!data) throw new Error(error ? `${error.code}: ${error.message}` : "no answer");
  return data.data;
}

/** Whoever the token belongs to, suspended or not. */
async function verified(token: string): Promise<string | null> {
  const answer = data(await verifyToken({ auth: process.env.API_KEY, headers, body: { token } }));
  return answer.valid ? answer.user.email : null;
}

const credentials = { email: process.env.EMAIL!, password: process.env.PASSWORD! };
const session = data(await login({ headers, body: credentials }));
if ("requires2FA" in session) throw new Error("this account has a second factor");
console.log("logged in:", await verified(session.accessToken!));
const renewed = data(await refresh({ headers, body: { refreshToken: session.refreshToken } }));
console.log("refreshed:", await verified(renewed.accessToken!));
console.log("before:", await verified(session.accessToken!));
const { error } = await login({ headers, body: { ...credentials, password: "not the password" } });
console.log("refused:", error?.code);
