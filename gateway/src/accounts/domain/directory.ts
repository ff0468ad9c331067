/** What a user or a group of a directory must have to be listed. */
export interface Condition {
  name: 'id' | 'userName' | 'externalId' | 'email' | 'displayName' | 'active' | 'member';
  value: string | number | boolean;
}

/** The members of a group after a change: only those in `added`, or the former ones with and without some. */
export interface MemberChange {
  isWhole: boolean;
  added: ReadonlySet<number>;
  removed: ReadonlySet<number>;
}
