//! The rows of the settings table: each is complete, is read, and names the setting that it refuses.

use tenant_auth_core::config::Setting;

use super::{
    super::{row::Default, table, values::Values},
    Env,
};

#[test]
fn every_setting_is_read_and_refused_by_its_name() {
    // None of these takes any text at all, so a value that is wrong for all the others shows that each is looked at.
    let free = ["password_pepper", "smtp_url", "master_key_file", "product_name"];
    for row in table::rows().filter(|row| !free.contains(&row.name)) {
        let name = row.variable().replace("TENANT_AUTH_", "");
        Env::complete().with(&name, "=?=").refused_naming(&name);
    }
}

#[test]
fn each_default_of_the_table_is_the_default_that_holds() {
    let values = || Values::new(&Env::complete().input());
    for row in table::rows() {
        let Default::Is(default) = row.default else { continue };
        let mut read = values();
        (row.read)(&mut read, default).unwrap_or_else(|fault| panic!("{} {}", row.name, row.reason(fault)));
        assert_eq!(format!("{read:?}"), format!("{:?}", values()), "{} = {default} is not the default", row.name);
    }
}

#[test]
fn every_row_is_complete_and_stands_once() {
    for row in table::rows() {
        assert!(!row.meaning.is_empty() && row.meaning.ends_with('.') && !row.must.is_empty(), "{} needs its words", row.name);
        assert_eq!(table::rows().filter(|other| other.name == row.name).count(), 1, "{} stands twice", row.name);
    }
}

#[test]
fn what_the_core_refuses_has_the_name_of_a_setting() {
    for setting in Setting::ALL {
        assert_eq!(table::rows().filter(|row| row.core == Some(*setting)).count(), 1, "{setting} needs one row");
    }
}
