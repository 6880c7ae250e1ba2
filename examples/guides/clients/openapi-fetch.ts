// Logs in, verifies and refreshes with the types that openapi-typescript made.
import createClient from "openapi-fetch";
import type { components, paths } from "./tenant-auth.js";

const org = { header: { "X-Org-Slug": "acme" } };
const auth = createClient<paths>({ baseUrl: process.env.AUTH_URL + "/api/v1" });
const backend = createClient<paths>({ baseUrl: process.env.AUTH_URL + "/api/v1", headers: { "X-API-Key": process.env.API_KEY } });

type Answer<D> = { data?: { data: D }; error?: components["schemas"]["Error"] };

/** The data of a success; a refusal names its code. */
function data<D>({ data, error }: Answer<D>): D {
  if (!data) throw new Error(error ? `${error.code}: ${error.message}` : "no answer");
  return data.data;
}

/** Whoever the token belongs to, suspended or not. */
async function verified(token: string): Promise<string | null> {
  const answer = data(await backend.POST("/public/verify", { params: org, body: { token } }));
  return answer.valid ? answer.user.email : null;
}

const credentials = { email: process.env.EMAIL!, password: process.env.PASSWORD! };
const session = data(await auth.POST("/auth/login", { params: org, body: credentials }));
if ("requires2FA" in session) throw new Error("this account has a second factor");
console.log("logged in:", await verified(session.accessToken!));
const renewed = data(await auth.POST("/auth/refresh", { params: org, body: { refreshToken: session.refreshToken } }));
console.log("refreshed:", await verified(renewed.accessToken!));
console.log("before:", await verified(session.accessToken!));
const { error } = await auth.POST("/auth/login", { params: org, body: { ...credentials, password: "not the password" } });
console.log("refused:", error?.code);
