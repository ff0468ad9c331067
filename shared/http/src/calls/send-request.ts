/**
 * `calls` is requests between our own processes (ADR 35). `principal.ts` signs who calls, a user or a service, with a
 * key that only the caller and the called have (ADR 18). `service-addresses.ts` knows the addresses of a service, and
 * chooses the one with the fewest requests under way; `service-health.ts` finds out whether a process lives by its
 * health check alone. This file sends a request, and once more, to another address if there is one, when the connection
 * breaks or the process is dead: only if the request may arrive twice, or if there was no connection for it.
 * `internal-client.ts` adds a timeout, and checks the response. A request without a response says whether the service
 * may have done what was asked.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { ServiceAddress, ServiceAddresses } from './service-addresses.ts';
import { SUSPECT_AFTER_MS, type WatchedRequest } from './service-health.ts';

/** No address of a service is up, or none has responded in time. */
export class NoResponse extends Error {
  readonly reason: 'deadline' | 'service_down';
  /** Whether the service may have done what was asked. */
  readonly mayHaveArrived: boolean;

  constructor(message: string, options: Pick<NoResponse, 'reason' | 'mayHaveArrived'> & ErrorOptions) {
    super(message, { cause: options.cause });
    this.reason = options.reason;
    this.mayHaveArrived = options.mayHaveArrived;
  }
}

/** One attempt to send a request. */
export class Attempt<Result> implements WatchedRequest {
  readonly address: ServiceAddress;
  readonly sentAt = performance.now();
  readonly deadlineAt: number;
  /** `Infinity` once it is not the service that keeps the request waiting. */
  suspectAfter = SUSPECT_AFTER_MS;
  /** There was a connection, so the service may have received the request. */
  mayHaveArrived = false;
  /** Why it was given up, if it was. */
  end: 'deadline' | 'down' | Error | undefined;
  readonly result = Promise.withResolvers<Result>();
  readonly #receive: SendOptions<Result>['receive'];
  readonly #mayArriveTwice: boolean;
  #request: ClientRequest | undefined;
  #isOver = false;

  constructor(address: ServiceAddress, deadlineAt: number, options: SendOptions<Result>) {
    this.address = address;
    this.deadlineAt = deadlineAt;
    this.#receive = options.receive;
    this.#mayArriveTwice = options.mayArriveTwice;
    address.health.watch(this);
    address.underWay += 1;
  }

  get isRepeatable(): boolean {
    return this.#mayArriveTwice || !this.mayHaveArrived;
  }

  /** Takes over the request, whose errors and response are those of the attempt. */
  begin(request: ClientRequest): void {
    this.#request = request;
    request.on('error', this.result.reject);
    // Received at once, so that the body flows: what is read before costs another turn of the socket.
    request.on('response', (response) => {
      // The process may be about to stop.
      if (response.headers.connection === 'close') this.address.health.check('doubt');
      this.result.resolve(this.#receive(response));
    });
    if (request.socket?.connecting !== true) this.mayHaveArrived = true;
    else request.socket.once('connect', () => (this.mayHaveArrived = true));
    if (this.end !== undefined) request.destroy();
  }

  /** Ends the request; with an error there is no other attempt. Has no effect once the response has been received. */
  abort(reason: 'deadline' | 'down' | Error): void {
    if (this.#isOver) return;
    this.end ??= reason;
    this.result.reject(new Error('the request was aborted'));
    this.#request?.destroy();
  }

  close(): void {
    this.address.health.unwatch(this);
    this.address.underWay -= 1;
    this.#isOver = true;
  }
}

export interface SendOptions<Result> {
  /** The name of the service, for messages. */
  service: string;
  /** Milliseconds for all attempts. */
  deadline: number;
  /** Otherwise the request is sent again only if there was no connection for it. */
  mayArriveTwice: boolean;
  /** Makes the request, at the address of the attempt. */
  open(attempt: Attempt<Result>): void;
  /** The attempt lasts until it has returned; what it throws is an error of the connection. */
  receive(response: IncomingMessage): Promise<Result>;
  onBroken?(error: unknown, address: ServiceAddress): void;
  onRepeat?(): void;
}

/**
 * Sends a request to a service: once more, to another address if there is one, if the connection breaks or the process
 * turns out to be dead. A connection that closes before a response proves nothing: the service may have done what was
 * asked.
 * @throws NoResponse, with the error of the last connection as its cause
 * @throws the error of `abort`
 */
export async function sendRequest<Result>(addresses: ServiceAddresses, options: SendOptions<Result>): Promise<Result> {
  const { service, deadline, open, onBroken, onRepeat } = options;
  const deadlineAt = performance.now() + deadline;
  let address = addresses.choose();
  let cause: unknown;
  let mayHaveArrived = false;
  for (let isFirst = true; address !== undefined; isFirst = false) {
    const attempt = new Attempt(address, deadlineAt, options);
    try {
      open(attempt);
      const result = await attempt.result.promise;
      if (attempt.end === undefined) return result;
      throw new Error('the request was aborted');
    } catch (error) {
      const { end } = attempt;
      if (end instanceof Error) throw end;
      if (end === 'deadline') {
        const message = `The ${service} service did not respond within ${deadline / 1_000} seconds`;
        throw new NoResponse(message, { reason: end, mayHaveArrived: attempt.mayHaveArrived });
      }
      cause = error;
      mayHaveArrived ||= attempt.mayHaveArrived;
      if (end === undefined) {
        address.health.check('doubt');
        onBroken?.(error, address);
      }
      address = isFirst && attempt.isRepeatable ? addresses.choose(address) : undefined;
      if (address !== undefined) onRepeat?.();
    } finally {
      attempt.close();
    }
  }
  throw new NoResponse(`The ${service} service does not respond`, { reason: 'service_down', mayHaveArrived, cause });
}
