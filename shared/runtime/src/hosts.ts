/** The parts of a URL before, of and after its hosts. */
function partsOf(url: string) {
  const scheme = url.indexOf('://');
  if (scheme === -1) return { before: url, hosts: '', after: '' };
  const start = scheme + '://'.length;
  const end = start + url.slice(start).search(/[/?#]|$/);
  const host = start + url.slice(start, end).lastIndexOf('@') + 1;
  return { before: url.slice(0, host), hosts: url.slice(host, end), after: url.slice(end) };
}

/** Returns a URL for each host of a URL that may name several, separated by commas: `amqp://user@one:5672,two:5672/`. */
export function urlsOfHosts(url: string): [string, ...string[]] {
  const { before, hosts, after } = partsOf(url);
  return hosts.split(',').map((host) => before + host + after) as [string, ...string[]];
}

/** Changes anything but the hosts of a URL that may name several. */
export function changeUrl(url: string, change: (parsed: URL) => void): string {
  const [first, ...others] = urlsOfHosts(url);
  const parsed = new URL(first);
  change(parsed);
  if (others.length === 0) return parsed.href;
  const { before, after } = partsOf(parsed.href);
  return before + partsOf(url).hosts + after;
}

/** Hosts of which one can be used at a time. Another one becomes that when it fails. */
export class Hosts<Host> {
  readonly #hosts: readonly Host[];
  readonly #isFinal: (error: unknown) => boolean;
  #index = 0;

  /** @param options.isFinal whether an error would be the same at all hosts; default: none would */
  constructor(hosts: readonly Host[], options: { isFinal?: (error: unknown) => boolean } = {}) {
    this.#hosts = hosts;
    this.#isFinal = options.isFinal ?? (() => false);
  }

  /** The one that was connected last, or is tried next. */
  get current(): Host {
    return this.#hosts[this.#index] as Host;
  }

  /** Whether there is another one. */
  get hasOthers(): boolean {
    return this.#hosts.length > 1;
  }

  /** Goes on to the next host, unless somebody has. */
  leave(host: Host): void {
    if (this.current === host) this.#index = (this.#index + 1) % this.#hosts.length;
  }

  /** Connects to the current host, or the first one after it that can be connected. @throws the error of the last one */
  async connect<Connection>(open: (host: Host) => Promise<Connection>): Promise<Connection> {
    for (let attempts = 1; ; attempts += 1) {
      const host = this.current;
      try {
        return await open(host);
      } catch (error) {
        this.leave(host);
        if (attempts === this.#hosts.length || this.#isFinal(error)) throw error;
      }
    }
  }
}
