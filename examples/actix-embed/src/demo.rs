//! The demo organization, and how its admin comes in.

use tenant_auth_core::{Error, TenantAuth, operator::NewOrganization};

use crate::Outcome;

/// Makes the demo organization, unless a former start did. Its admin comes in by the invite that every organization begins with.
pub(crate) async fn invite_first_admin(auth: &TenantAuth, url: &str) -> Outcome<()> {
    let organization = NewOrganization {
        app_url: Some(url.parse()?),
        ..NewOrganization::new("Acme Rockets".parse()?, "acme".parse()?, "ada@acme.example".parse()?)
    };
    println!("{url}/ is the admin panel, {url}/app/me a page of the host's for members; stop with Ctrl-C");
    let registration = r#"{"name": "Ada Admin", "password": "mauve-otter-plinth"}"#;
    match auth.operator().create_organization(organization).await {
        Ok(invited) => println!(
            "Become acme's admin at {}\nor by\n\ncurl -i {url}/api/v1/org/invites/{}/accept -H 'X-Org-Slug: acme' --json '{registration}'\n",
            invited.url,
            invited.token.expose()
        ),
        Err(Error::SlugTaken) => println!("The organization acme is there already."),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
