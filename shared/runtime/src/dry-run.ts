/**
 * What a request that only validates has opened (contract: Validating a write). All that it writes is rolled back at its
 * end, and what usually follows a commit does not happen.
 */
export class DryRun {
  readonly #endings: (() => Promise<void>)[] = [];
  #isOver = false;

  /** @param ending must not reject */
  atEnd(ending: () => Promise<void>): void {
    if (this.#isOver) throw new Error('the dry run is over');
    this.#endings.push(ending);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const ending of this.#endings.splice(0)) await ending();
  }
}
