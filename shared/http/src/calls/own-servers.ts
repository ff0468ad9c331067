/** The addresses of servers that this process runs itself. */
const origins = new Set<string>();

/** Says which servers run in this process, as all apps do in the embedded one. */
export function declareOwnServers(urls: readonly string[]): void {
  for (const url of urls) origins.add(new URL(url).origin);
}

export const isOwnServer = ({ origin }: URL): boolean => origins.has(origin);
