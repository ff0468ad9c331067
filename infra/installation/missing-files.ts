/** Handles the error of a file operation: undefined for a file that does not exist. @throws any other error */
export function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
