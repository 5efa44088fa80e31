//! The keys of the catalogue, as a type: a page cannot name a message that does not exist.

macro_rules! keys {
    ($($name:ident = $text:literal,)*) => {
        /// Names a message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Key {
            $(#[doc = concat!("`", $text, "`")] $name,)*
        }

        impl Key {
            /// All keys.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// As written in the catalogue.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// The key with a name.
            pub(super) fn find(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

keys! {
    // Everywhere
    TitleError = "title.error",
    Continue = "continue",
    Cancel = "cancel",
    TryAgain = "try_again",
    SignOut = "sign_out",
    SignIn = "sign_in",
    BackTo = "back_to",
    NewTab = "new_tab",
    Language = "language",
    Privacy = "privacy",
    Terms = "terms",
    AboutApp = "about_app",
    YouAreAt = "you_are_at",
    FooterLabel = "footer_label",
    Mistake = "mistake",
    TryAgainIn = "try_again_in",
    // Fields
    Username = "field.username",
    Password = "field.password",
    ShowPassword = "field.show_password",
    HidePassword = "field.hide_password",
    Show = "field.show",
    Hide = "field.hide",
    PasswordShown = "field.password_shown",
    PasswordHidden = "field.password_hidden",
    PasswordRule = "field.password_rule",
    PasswordTooShort = "field.password_too_short",
    PasswordTooLong = "field.password_too_long",
    PasswordWeak = "field.password_weak",
    // Sign-in
    SigninHeading = "signin.heading",
    SigninHeadingApp = "signin.heading_app",
    SigninConfirmHeading = "signin.confirm_heading",
    SigninConfirm = "signin.confirm",
    SigninConfirmApp = "signin.confirm_app",
    SigninSubmit = "signin.submit",
    SigninBusyButton = "signin.busy_button",
    SigninRemember = "signin.remember",
    SigninRememberHint = "signin.remember_hint",
    SigninErrorHeading = "signin.error_heading",
    SigninWrong = "signin.wrong",
    SigninWrongField = "signin.wrong_field",
    SigninStale = "signin.stale",
    SigninNoCookie = "signin.no_cookie",
    SigninBusy = "signin.busy",
    SigninUnavailable = "signin.unavailable",
    SigninSessionEnded = "signin.session_ended",
    SigninSetupDone = "signin.setup_done",
    AlreadyHeading = "already.heading",
    AlreadyText = "already.text",
    AlreadyContinueApp = "already.continue_app",
    // Busy
    BusyHeading = "busy.heading",
    BusyText = "busy.text",
    BusyUnchecked = "busy.unchecked",
    BusyName = "busy.name",
    BusyAuto = "busy.auto",
    BusyRateHeading = "busy.rate_heading",
    BusyRateText = "busy.rate_text",
    // Consent
    ConsentHeading = "consent.heading",
    ConsentSignedIn = "consent.signed_in",
    ConsentSwitch = "consent.switch",
    ConsentAsks = "consent.asks",
    ConsentAsksNew = "consent.asks_new",
    ConsentKnown = "consent.known",
    ConsentCannot = "consent.cannot",
    ConsentGoes = "consent.goes",
    ConsentManage = "consent.manage",
    ConsentAllow = "consent.allow",
    ConsentDeny = "consent.deny",
    ScopeOpenid = "scope.openid",
    ScopeProfile = "scope.profile",
    ScopeEmail = "scope.email",
    ScopePhone = "scope.phone",
    ScopeAddress = "scope.address",
    ScopeOffline = "scope.offline",
    ScopeRoles = "scope.roles",
    ScopeGroups = "scope.groups",
    ScopeOther = "scope.other",
    ScopeResource = "scope.resource",
    // Sign-out
    LogoutHeading = "logout.heading",
    LogoutText = "logout.text",
    LogoutTextApp = "logout.text_app",
    LogoutYes = "logout.yes",
    LogoutStay = "logout.stay",
    LogoutBusyButton = "logout.busy_button",
    SignedOutHeading = "signed_out.heading",
    SignedOutText = "signed_out.text",
    SignedOutAgain = "signed_out.again",
    SignedOutTold = "signed_out.told",
    SignedOutPassing = "signed_out.passing",
    // Form post
    FormPostHeading = "form_post.heading",
    FormPostText = "form_post.text",
    // Set-up
    SetupHeading = "setup.heading",
    SetupText = "setup.text",
    SetupUsername = "setup.username",
    SetupUsernameHint = "setup.username_hint",
    SetupSubmit = "setup.submit",
    SetupBusyButton = "setup.busy_button",
    SetupErrorHeading = "setup.error_heading",
    SetupNameInvalid = "setup.name_invalid",
    SetupNameTaken = "setup.name_taken",
    SetupStale = "setup.stale",
    SetupBusy = "setup.busy",
    SetupDoneHeading = "setup_done.heading",
    SetupDoneText = "setup_done.text",
    SetupDoneIssuer = "setup_done.issuer",
    // Errors
    ErrorAppHeading = "error.app.heading",
    ErrorClientText = "error.client.text",
    ErrorRedirectText = "error.redirect.text",
    ErrorRequestText = "error.request.text",
    ErrorAppAdvice = "error.app.advice",
    ErrorFlowHeading = "error.flow.heading",
    ErrorFlowText = "error.flow.text",
    ErrorFlowAdvice = "error.flow.advice",
    ErrorCookieHeading = "error.cookie.heading",
    ErrorCookieText = "error.cookie.text",
    ErrorCookieAdvice = "error.cookie.advice",
    ErrorFormHeading = "error.form.heading",
    ErrorFormText = "error.form.text",
    ErrorFormAdvice = "error.form.advice",
    ErrorForbiddenHeading = "error.forbidden.heading",
    ErrorForbiddenText = "error.forbidden.text",
    ErrorForbiddenAdvice = "error.forbidden.advice",
    ErrorNotFoundHeading = "error.not_found.heading",
    ErrorNotFoundText = "error.not_found.text",
    ErrorNotFoundAdvice = "error.not_found.advice",
    ErrorMethodHeading = "error.method.heading",
    ErrorMethodText = "error.method.text",
    ErrorTooLargeHeading = "error.too_large.heading",
    ErrorTooLargeText = "error.too_large.text",
    ErrorSetupHeading = "error.setup.heading",
    ErrorSetupText = "error.setup.text",
    ErrorSetupAdvice = "error.setup.advice",
    ErrorLogoutHeading = "error.logout.heading",
    ErrorLogoutText = "error.logout.text",
    ErrorUnavailableHeading = "error.unavailable.heading",
    ErrorUnavailableText = "error.unavailable.text",
    ErrorUnavailableAdvice = "error.unavailable.advice",
    ErrorInternalHeading = "error.internal.heading",
    ErrorInternalText = "error.internal.text",
    ErrorInternalAdvice = "error.internal.advice",
    ErrorNothingChanged = "error.nothing_changed",
    ErrorOnward = "error.onward",
    ErrorDetails = "error.details",
    ErrorCode = "error.code",
    ErrorReference = "error.reference",
    ErrorTime = "error.time",
    // Start page
    HomeTitle = "home.title",
    HomeText = "home.text",
    HomeSignedIn = "home.signed_in",
    HomeDevelopers = "home.developers",
    HomeIssuer = "home.issuer",
    HomeDiscovery = "home.discovery",
    HomeDemo = "home.demo",
    // Demo
    DemoTitle = "demo.title",
    DemoText = "demo.text",
    DemoSignIn = "demo.sign_in",
    DemoUser = "demo.user",
    DemoSettings = "demo.settings",
    DemoClientId = "demo.client_id",
    DemoSignedOut = "demo.signed_out",
    DemoFailed = "demo.failed",
    DemoHello = "demo.hello",
    DemoRefreshed = "demo.refreshed",
    DemoIdToken = "demo.id_token",
    DemoIdTokenText = "demo.id_token_text",
    DemoAccessToken = "demo.access_token",
    DemoAccessTokenText = "demo.access_token_text",
    DemoScope = "demo.scope",
    DemoOpaque = "demo.opaque",
    DemoRefreshToken = "demo.refresh_token",
    DemoRefreshTokenText = "demo.refresh_token_text",
    DemoNoRefreshToken = "demo.no_refresh_token",
    DemoUserinfo = "demo.userinfo",
    DemoUserinfoText = "demo.userinfo_text",
    DemoUserinfoNone = "demo.userinfo_none",
    DemoRefresh = "demo.refresh",
    DemoAskUserinfo = "demo.ask_userinfo",
    DemoLogout = "demo.logout",
    DemoHeader = "demo.header",
    DemoClaim = "demo.claim",
    DemoValue = "demo.value",
    DemoRaw = "demo.raw",
}
