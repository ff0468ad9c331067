/** Why something did not work, for people. */
export interface Failure {
  readonly message: string;
  /** The field that it is about, as the form names it. */
  readonly field?: string | undefined;
  /** The HTTP status of the response, if there was one. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
}
