/** A setting is missing or malformed. The message names each invalid variable, one a line, and never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
