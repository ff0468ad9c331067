import { Counter, type Logger, type Metrics } from '@tocsin/runtime';
import type { DomainError } from './errors.ts';
import type { WorkspaceContext } from '@tocsin/schemas';

type RefusedWorkspace = Pick<WorkspaceContext, 'id' | 'is_demo' | 'own_rate_limit'>;

/** Counts the requests that a limit or an overload refused: errors with a `reason`. */
export interface Refusals {
  /** @param workspace `undefined` for a request without a valid token */
  count(error: DomainError, workspace: RefusedWorkspace | undefined): void;
}

/** Milliseconds between two log lines about refusals. */
const SUMMARY_INTERVAL = 60_000;
/** Workspaces that are counted for one log line; further ones are missing in the comparison only. */
const MAX_WORKSPACES = 10_000;

/** The refusals since the last log line. */
interface Summary {
  reasons: Map<string, number>;
  workspaces: Map<number, number>;
}

const byMetrics = new WeakMap<Metrics, Refusals>();

/**
 * Returns the refusals of a process, or of one app in it: there is one counter for each registry. The metric has no
 * tenant's name; the log line, at most one a minute, names the workspace with the most refusals.
 */
export function refusalsOf(metrics: Metrics, log: Logger): Refusals {
  const existing = byMetrics.get(metrics);
  if (existing !== undefined) return existing;
  const refusals = openRefusals(metrics, log);
  byMetrics.set(metrics, refusals);
  return refusals;
}

function openRefusals(metrics: Metrics, log: Logger): Refusals {
  const total = new Counter({
    name: 'tocsin_refusals_total',
    help: 'Requests refused by a limit or an overload, by reason and class of workspace',
    labelNames: ['reason', 'workspace_class'],
    registers: [metrics],
  });
  let summary: Summary | undefined;
  const logSummary = ({ reasons, workspaces }: Summary) => {
    summary = undefined;
    const [worst] = [...workspaces].sort(([, a], [, b]) => b - a);
    log.warn(
      {
        refusals: Object.fromEntries(reasons),
        ...(worst !== undefined && { worst_workspace: worst[0], worst_workspace_refusals: worst[1] }),
      },
      'requests were refused by limits in the last minute',
    );
  };
  return {
    count: ({ reason }, workspace) => {
      if (reason === undefined) return;
      total.inc({ reason, workspace_class: classOf(workspace) });
      if (summary === undefined) {
        const started: Summary = { reasons: new Map(), workspaces: new Map() };
        summary = started;
        setTimeout(() => logSummary(started), SUMMARY_INTERVAL).unref();
      }
      increase(summary.reasons, reason);
      if (workspace === undefined) return;
      const { workspaces } = summary;
      if (workspaces.size < MAX_WORKSPACES || workspaces.has(workspace.id)) increase(workspaces, workspace.id);
    },
  };
}

function classOf(workspace: RefusedWorkspace | undefined): string {
  if (workspace === undefined) return 'none';
  if (workspace.is_demo) return 'demo';
  return workspace.own_rate_limit === true ? 'limited' : 'standard';
}

const increase = <Key>(counts: Map<Key, number>, key: Key) => counts.set(key, (counts.get(key) ?? 0) + 1);
