//! The text that `dev` prints: the credentials, and commands that show the service at work. Each command is one line that can be
//! pasted into any POSIX shell with only curl and what POSIX has, in this order, as often as one likes. They use the tokens of the
//! answers rather than a cookie jar: older curls send no `Secure` cookie over http.

use super::{
    demo::generated_password,
    files::{Demo, Files},
};

/// All of it. The pages of `dev` are answered to this machine alone, at its own address.
pub(super) fn text(public_url: &str, local_url: &str, demo: &Demo, files: &Files) -> String {
    let Demo { organization, email, password, api_key, .. } = demo;
    let (database, credentials) = (files.database(), files.credentials());
    let (database, credentials) = (database.display(), credentials.display());
    let mut text = format!(
        "Tenant Auth for trying out. Production is 'tenant-auth-server serve'.

  Panel         {public_url}/sign-in#org={organization}&email={email}
  API           {public_url}/api/v1
  Mails         {local_url}/dev/mail
  To try out    {local_url}/dev
  Organization  {organization}
  Admin         {email}
  Password      {password}
  API key       {api_key}

These are kept in {credentials}, the data in {database}. Delete both to start afresh.
Paste these lines into one shell:
"
    );
    for (title, command) in commands(public_url, local_url, demo) {
        text.push_str(&format!("\n# {title}\n{command}\n"));
    }
    text.push('\n');
    text
}

fn commands(public_url: &str, local_url: &str, demo: &Demo) -> [(&'static str, String); 5] {
    let Demo { organization, email, password, api_key, .. } = demo;
    let post = |path: &str| {
        format!(
            "curl -sS -X POST \"{public_url}/api/v1{path}\" -H 'X-Org-Slug: {organization}' -H 'Content-Type: application/json'"
        )
    };
    let guest_password = generated_password();
    [
        (
            "Log in",
            format!(
                "ACCESS=$({} -d '{{\"email\":\"{email}\",\"password\":\"{password}\"}}' | {}); echo \"access token: $ACCESS\"",
                post("/auth/login"),
                r#"sed -n 's/.*"accessToken":"\([^"]*\)".*/\1/p'"#,
            ),
        ),
        (
            "Verify the token, as your backend does",
            format!(r#"{} -H 'X-API-Key: {api_key}' -d "{{\"token\":\"$ACCESS\"}}"; echo"#, post("/public/verify")),
        ),
        (
            "Invite somebody",
            format!(
                r#"GUEST="guest-$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')@example.com"; {} -H "Authorization: Bearer $ACCESS" -d "{{\"email\":\"$GUEST\"}}"; echo"#,
                post("/org/members/invite"),
            ),
        ),
        (
            "Read the mail",
            format!(
                "INVITE=$(curl -sS \"{local_url}/dev/mail.json?to=$GUEST&wait=10\" | {}); echo \"invite token: $INVITE\"",
                r"sed -n 's/.*token=\([A-Za-z0-9_-]*\).*/\1/p'",
            ),
        ),
        (
            "Accept the invite",
            format!(r#"{} -d '{{"name":"Guest","password":"{guest_password}"}}'; echo"#, post("/org/invites/$INVITE/accept"),),
        ),
    ]
}
