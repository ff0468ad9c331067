/** How much workspaces may have under way at the same time (contract: Limits). */
export interface Shares {
  /** Requests that are forwarded and whose responses are not finished. */
  requestsPerWorkspace: number;
  /** Requests that wait for a service, over all workspaces. */
  requestsPerService: number;
  /** Requests that wait for events, or stream them. */
  waitingPerWorkspace: number;
  waiting: number;
  /** The longest wait for a lease; milliseconds. */
  wait: number;
  /** Bytes of one request body. */
  maxBodyBytes: number;
  /** Bytes of request bodies. */
  bodyBytesPerWorkspace: number;
  bodyBytes: number;
  body: BodyTimes;
}

/** Milliseconds. */
export interface BodyTimes {
  /** For the whole body. */
  deadline: number;
  /** In which some of it must arrive. */
  progress: number;
}
