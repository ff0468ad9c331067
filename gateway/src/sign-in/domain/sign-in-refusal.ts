/** Why a sign-in by a provider ends without a session; the console explains each. */
export type SignInRefusal =
  /** The browser did not begin it here within ten minutes. */
  | 'expired'
  | 'provider_unavailable'
  | 'provider_refused'
  | 'unverified_email'
  /** What the provider says cannot be stored. */
  | 'unusable_account'
  /** The address, or the account, signed in as another one before. */
  | 'other_account'
  | 'unknown_user'
  | 'deactivated_user'
  | 'user_quota';

export class RefusedSignIn extends Error {
  readonly reason: SignInRefusal;

  constructor(reason: SignInRefusal) {
    super(reason);
    this.reason = reason;
  }
}
