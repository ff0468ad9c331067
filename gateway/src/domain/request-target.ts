/** What a request line asks for. */
export interface RequestTarget {
  /** As it was sent. */
  path: string;
  /** With its question mark, or empty. */
  search: string;
  /** The host of an absolute target (`GET http://acme.example/… HTTP/1.1`), which counts more than the Host header. */
  host: string | undefined;
  /** False for what no URL can hold: whoever reads such a thing leniently may read it differently from us. */
  wellFormed: boolean;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;
const PATH = /^\/[\w\-.~!$&'()*+,;=:@%/]*$/;
/** Visible ASCII but `#`. */
const SEARCH = /^[!"$-~]*$/;

export function parseTarget(url: string): RequestTarget {
  const [, host, rest] = ABSOLUTE.exec(url) ?? [];
  const relative = rest === undefined ? url : rest.startsWith('/') ? rest : `/${rest}`;
  const cut = relative.indexOf('?');
  const path = cut === -1 ? relative : relative.slice(0, cut);
  const search = cut === -1 ? '' : relative.slice(cut);
  return { path, search, host, wellFormed: PATH.test(path) && SEARCH.test(search) };
}
