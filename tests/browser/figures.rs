//! The deployment in figures, as its operator sees it.

use tenant_auth_conformance::{browser::Stage, visits};

use crate::browser::operator::opens_organizations;

visits! {
    the_days_are_shown_as_charts_and_as_a_table,
    the_charts_keep_to_forced_colours,
}

/// Of each chart: its title, its sum, how many bars are there to be seen, and whether the last bar is one of them.
const CHARTS: &str = "return JSON.stringify([...document.querySelectorAll('figure')].map((one) => {
    const bars = [...one.querySelectorAll('rect:not(.reach)')].map((bar) => bar.getBoundingClientRect().height);
    return [...squeezed(one.querySelector('figcaption').innerText).split(/ (?=\\d+$)/), bars.length, bars.filter(Boolean).length, bars.at(-1) > 0];
}))";

async fn the_days_are_shown_as_charts_and_as_a_table(stage: &Stage) {
    let page = &stage.page;
    for _ in 0..3 {
        stage.member().logged_in().await;
    }
    stage.advance(24 * 3_600);
    opens_organizations(stage).await;
    page.reads("Active organizations 2").await;
    // Three of a member yesterday; two of the operator today, by both factors and to set them up.
    let charts = r#"[["Sign-ins","5",30,2,true],["People joined","4",30,1,false],["Organizations created","2",30,1,false]]"#;
    assert_eq!(page.run(CHARTS, vec![]).await, charts);
    let said = "return document.querySelector('figure svg').getAttribute('aria-label')";
    let said = page.run(said, vec![]).await;
    assert!(said.as_str().is_some_and(|said| said.ends_with(": 5 in all, at most 3 on a day.")), "{said}");
    page.is_accessible().await;
    page.press("The same as a table").await;
    let rows = "const rows = [...document.querySelectorAll('details tbody tr')]; return [rows.length, ...rows.slice(0, 2).map((row) => [...row.cells].slice(1).map((cell) => cell.innerText).join(' '))].join(' | ')";
    assert_eq!(page.run(rows, vec![]).await, "30 | 2 0 0 | 3 0 0");
    page.is_accessible().await;
    page.press("Create organization").await;
    page.fill("Name", "Initech").await;
    page.fill("Short name", "initech").await;
    page.fill("Email address of the first admin", "bill@initech.example").await;
    page.press("Create organization").await;
    page.reads("Active organizations 3").await;

    page.prefers("de").await;
    page.reload().await;
    page.arrives_at("Organisationen").await;
    page.reads("Aktive Organisationen 3").await;
    page.reads("Anmeldungen").await;
    page.is_accessible().await;
}

async fn the_charts_keep_to_forced_colours(stage: &Stage) {
    let page = &stage.page;
    stage.member().logged_in().await;
    opens_organizations(stage).await;
    page.reads("Sign-ins").await;
    page.is_in_forced_colours(true).await;
    let drawn = "const system = document.body.appendChild(document.createElement('i'));
        system.style.color = 'CanvasText';
        const wanted = getComputedStyle(system).color;
        system.remove();
        return [...document.querySelectorAll('figure rect:not(.reach)')].every((bar) => getComputedStyle(bar).fill === wanted)";
    assert_eq!(page.run(drawn, vec![]).await, true, "in the colour of text, whatever that is");
    page.is_accessible().await;
}
