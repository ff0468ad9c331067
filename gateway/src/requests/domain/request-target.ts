/** The target of a request line. */
export interface RequestTarget {
  /** As the client sent it. */
  path: string;
  /** With its question mark, or empty. */
  search: string;
  /** The host of an absolute target (`GET http://acme.example/… HTTP/1.1`); it overrides the Host header. */
  host: string | undefined;
  /** False if the target has characters that no URL may have: lenient parsers could read it differently from us. */
  wellFormed: boolean;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)((?:[/?#].*)?)$/is;
const PATH = /^\/[\w\-.~!$&'()*+,;=:@%/]*$/;
/** Visible ASCII except `#`. */
const SEARCH = /^[!"$-~]*$/;

export function parseTarget(url: string): RequestTarget {
  const [, host, pathAndSearch] = ABSOLUTE.exec(url) ?? [];
  const relative =
    pathAndSearch === undefined ? url : pathAndSearch.startsWith('/') ? pathAndSearch : `/${pathAndSearch}`;
  const start = relative.indexOf('?');
  const path = start === -1 ? relative : relative.slice(0, start);
  const search = start === -1 ? '' : relative.slice(start);
  return { path, search, host, wellFormed: PATH.test(path) && SEARCH.test(search) };
}
