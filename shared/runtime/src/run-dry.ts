import { DryRun } from './dry-run.ts';
import { currentRequest, RequestWork, type RequestWorkOptions, runForRequest } from './work-context.ts';

/** The dry run that the current code is a part of; `undefined` if what the code does is to last. */
export const currentDryRun = (): DryRun | undefined => currentRequest()?.dryRun;

/** Runs `work` for a request as a dry run, which ends with it. */
export async function runDry<Result>(request: RequestWorkOptions, work: () => Promise<Result>): Promise<Result> {
  const dryRun = new DryRun();
  try {
    return await runForRequest(new RequestWork(request, { dryRun }), work);
  } finally {
    await dryRun.end();
  }
}

/**
 * Runs a part of a request whose writes nothing after it needs, so that a dry run rolls them back, and gives back their
 * locks, at once.
 */
export async function inOwnDryRun<Result>(work: () => Promise<Result>): Promise<Result> {
  const request = currentRequest();
  return request?.dryRun === undefined ? work() : runDry(request, work);
}

/** Runs work that a request needs and others share, such as an update of a replica: a dry run does it, too. */
export function outsideDryRun<Result>(work: () => Result): Result {
  const request = currentRequest();
  if (request?.dryRun === undefined) return work();
  return runForRequest(new RequestWork(request, { dryRun: undefined }), work);
}

/**
 * Runs an effect that follows a commit: a dry run, which commits nothing, skips it. For whatever a transaction cannot roll
 * back: waking workers, counts in memory, metrics, announcements to others.
 */
export const afterCommit = <Result>(effect: () => Result): Result | undefined =>
  currentDryRun() === undefined ? effect() : undefined;
