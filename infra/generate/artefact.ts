/** A file of the repository that is made from the sources; the same sources make the same text. */
export interface Artefact {
  /** From the top of the repository. */
  file: string;
  make: () => Promise<string>;
}
