import type { Attack } from '../attack.ts';
import { beginFlood } from '../flood.ts';

const STARTS = ['2026-11-20T09:00:00Z', '2026-11-20T10:00:00Z'] as const;

/** Monitors that send more than anybody wants to read. */
export const alertAttacks: readonly Attack[] = [
  {
    name: 'alert-storm',
    what: '200 alerts of different groups a second, with one key',
    // They wait for each other.
    expects: [202, 429, 'silent'],
    run: async (context, workspace) => {
      await beginFlood(context, { clients: 50, total: 6_000, perSecond: 200 }, async (number) => {
        const labels = { alertname: `Storm ${number}`, severity: 'critical' };
        const alerts = [{ status: 'firing', labels, startsAt: STARTS[0], fingerprint: String(number) }];
        const body = { groupKey: `storm-${number}`, alerts };
        return context.send(workspace, { method: 'POST', path: '/api/v1/alerts/alertmanager', body });
      });
    },
  },
  {
    name: 'largest-alert-groups',
    what: 'groups of 5,000 alerts that begin to fire, end and fire again, 10 at once, grouped and each by itself',
    // 409 for more alerts than a key may have.
    expects: [202, 409, 429, 'silent'],
    run: async (context, workspace) => {
      await beginFlood(context, { clients: 10 }, async (number) => {
        const status = number % 2 === 0 ? 'firing' : 'resolved';
        const alerts = Array.from({ length: 5_000 }, (_, index) => ({
          ...{
            status,
            labels: { alertname: 'A' },
            startsAt: STARTS[Math.floor(number / 2) % 2],
            fingerprint: String(index),
          },
        }));
        const query = number % 5 === 4 ? '?group=alert' : '?on_end=resolve';
        const path = `/api/v1/alerts/alertmanager${query}`;
        return context.send(workspace, { method: 'POST', path, body: { groupKey: `g${number % 3}`, alerts } });
      });
    },
  },
  {
    name: 'alert-groups-at-once',
    what: '5,000 groups in one notification, 10 at once, that begin to fire and repeat',
    // 409 for more alerts than a monitor may have.
    expects: [202, 409, 429, 'silent'],
    run: async (context, workspace) => {
      await beginFlood(context, { clients: 10 }, async (number) => {
        const alerts = Array.from({ length: 5_000 }, (_, index) => ({
          ...{ status: 'firing', labels: { alertname: 'B' }, startsAt: STARTS[0] },
          fingerprint: `${number % 3} ${index}`,
        }));
        const path = '/api/v1/alerts/alertmanager?group=alert';
        return context.send(workspace, { method: 'POST', path, body: { alerts } });
      });
    },
  },
  {
    name: 'alerts-that-flap',
    what: '200 alerts a second of different groups, which fire and end in turns, with one key',
    // They wait for each other.
    expects: [202, 429, 'silent'],
    run: async (context, workspace) => {
      await beginFlood(context, { clients: 50, total: 6_000, perSecond: 200 }, async (number) => {
        const id = `flap ${Math.floor(number / 2) % 500}`;
        const body = { id, status: number % 2 === 0 ? 'firing' : 'resolved', title: id };
        const path = '/api/v1/alerts?on_end=resolve&reopen_within=0';
        return context.send(workspace, { method: 'POST', path, body });
      });
    },
  },
];
