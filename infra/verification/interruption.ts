/**
 * Returns a signal that SIGINT or SIGTERM aborts, for a command that has to stop what it has started. The same signal a
 * second time ends the process.
 * @param message is printed then
 */
export function interruption(message?: string): AbortSignal {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      if (message !== undefined) console.error(message);
      interrupted.abort(new Error(`interrupted by ${name}`));
    });
  }
  return interrupted.signal;
}
