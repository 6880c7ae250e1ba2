//! A person's account: login and logout, refresh token rotation, the second factor, profile, password and address.

mod email;
mod first_proof;
#[cfg(feature = "http")]
mod given_up;
pub(crate) mod login;
mod logout;
mod password;
mod password_rules;
mod profile;
mod recovery;
mod refresh;
mod sessions;
pub(crate) mod two_factor;
mod verify_two_factor;

pub use email::{AddressProof, NewEmail};
pub(crate) use first_proof::{forget_predecessor, hand_over};
#[cfg(feature = "http")]
pub(crate) use given_up::GivenUp;
pub(crate) use login::Login;
pub use login::Opened;
pub use logout::SessionToEnd;
pub use password::NewPassword;
pub(crate) use password::TypedPassword;
pub(crate) use password_rules::check_password;
pub use profile::ProfileUpdate;
pub use recovery::LinkPreview;
pub(crate) use recovery::{fulfil_reset_requests, mail_reset_link, mail_welcome_link};
#[cfg(feature = "http")]
pub(crate) use refresh::RefreshQuery;
pub(crate) use sessions::{Ending, Entrant, Opening, end_all_others, events_of_user, tell_ended, tell_user};
use sessions::{open_session, wait_for_second_factor};
pub use two_factor::{RecoveryCodes, SecondFactorSetup, SecondFactorStatus};
pub(crate) use two_factor::{SECOND_FACTOR_BYTES, open_second_factor, read_second_factor, seal_second_factor, step_at};
pub use verify_two_factor::WaitingLogin;

pub use crate::token::PartialToken;
