//! What pages look like with names as people have them, on windows of every width.

use serde_json::json;
use tenant_auth_conformance::{PASSWORD, browser::Stage, visits};

visits! {
    badges_stay_whole_at_every_width,
    a_tablet_shows_a_table,
    an_organization_with_a_long_name_is_offered_within_the_card,
    a_picture_is_one_whole_sign,
    a_long_name_of_a_key_stays_within_its_dialog,
    a_long_name_of_an_organization_widens_no_page,
}

const LONG: &str = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk AG";
/// Badges that are higher than a line, and what is wider than the window.
const BROKEN: &str = "const badges = [...document.querySelectorAll('main td span')].filter((one) => /^(Admin|Member|Active|Suspended)$/.test(one.textContent));
    const high = badges.filter((one) => one.getBoundingClientRect().height > 30).map((one) => one.textContent);
    const { scrollWidth, clientWidth } = document.documentElement;
    return JSON.stringify([badges.length, high, scrollWidth > clientWidth]);";

async fn badges_stay_whole_at_every_width(stage: &Stage) {
    let page = &stage.page;
    let bea = stage.org().new_admin("christopherbenjaminmontgomeryandersonthesecond Montgomery-Anderson of the Subsidiary").await;
    stage.org().new_member("Kai").await;
    let ada = stage.admin().logged_in().await;
    ada.set_status(bea.id(), "suspended").await.expect(200);
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.reads("Subsidiary").await;
    for width in [360, 768, 1024, 1440] {
        page.is_wide(width).await;
        assert_eq!(page.run(BROKEN, vec![]).await, "[8,[],false]", "at {width} px");
    }
}

async fn a_tablet_shows_a_table(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    let is_table = "return getComputedStyle(document.querySelector('main thead')).display === 'table-header-group'";
    for (width, wanted) in [(768, true), (360, false)] {
        page.is_wide(width).await;
        assert_eq!(page.run(is_table, vec![]).await, wanted, "at {width} px");
    }
}

async fn an_organization_with_a_long_name_is_offered_within_the_card(stage: &Stage) {
    let page = &stage.page;
    stage.admin().logged_in().await.patch("/org", json!({ "name": LONG })).await.expect(200);
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    stage.signs_out().await;
    page.offers(LONG).await;
    page.is_wide(360).await;
    let width = page.run("return document.documentElement.scrollWidth", vec![]).await;
    assert!(width.as_u64().is_some_and(|width| width <= 360), "{width}");
    page.is_accessible().await;
}

async fn a_picture_is_one_whole_sign(stage: &Stage) {
    let page = &stage.page;
    stage.admin().logged_in().await.patch("/org", json!({ "name": "🚀 Rocket" })).await.expect(200);
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    let picture = "return [...document.querySelectorAll('[aria-hidden=true]')].find((one) => one.textContent).textContent";
    assert_eq!(page.run(picture, vec![]).await, "🚀");
    stage.signs_out().await;
    page.offers("🚀 Rocket").await;
    assert_eq!(page.run(picture, vec![]).await, "🚀");
}

async fn a_long_name_of_a_key_stays_within_its_dialog(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.press("API keys").await;
    page.press("Create key").await;
    page.fill("Name", &"x".repeat(100)).await;
    page.press("Create key").await;
    page.asks("Your new API key").await;
    let inside = "return [...dialog().querySelectorAll('label, input, button, p')].every((one) => one.getBoundingClientRect().right <= dialog().getBoundingClientRect().right)";
    assert_eq!(page.run(inside, vec![]).await, true);
    let label = "return dialog().querySelector('label').scrollWidth <= dialog().querySelector('label').clientWidth";
    assert_eq!(page.run(label, vec![]).await, true);
}

async fn a_long_name_of_an_organization_widens_no_page(stage: &Stage) {
    let (page, admin) = (&stage.page, stage.admin().logged_in().await);
    let fits = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    let join = "International Business Solutions Group GmbH";
    admin.patch("/org", json!({ "name": join })).await.expect(200);
    admin.invite("gus@globex.example").await.expect(201);
    page.is_narrow(true).await;
    page.open(&stage.link("gus@globex.example", "/invite").await).await;
    page.offers(&format!("Join {join}")).await;
    assert_eq!(page.run(fits, vec![]).await, true, "the button of an invite");
    admin.patch("/org", json!({ "name": LONG })).await.expect(200);
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    for view in ["members", "settings"] {
        page.open(&format!("/#/{view}")).await;
        page.reads(LONG).await;
        page.comes_true("a page at rest", "return resting()").await;
        assert_eq!(page.run(fits, vec![]).await, true, "{view}");
    }
}
