import type { IconName } from '../ui/icon.tsx';

/** The pages, in groups: address, name, icon, and the key after `g`. */
export const PLACES = [
  [
    undefined,
    [
      ['/', 'Incidents', 'incidents', 'i'],
      ['/follow-ups', 'Follow-ups', 'tasks', 'u'],
      ['/statistics', 'Statistics', 'chart', 's'],
      ['/catalog', 'Services and teams', 'services', 'c'],
    ],
  ],
  [
    'Settings',
    [
      ['/fields', 'Custom fields', 'fields', 'f'],
      ['/alerts', 'Alerts', 'alert', 'a'],
      ['/destinations', 'Destinations', 'send', 'd'],
      ['/trackers', 'Trackers', 'tasks', 'r'],
      ['/webhooks', 'Webhooks', 'webhooks', 'w'],
      ['/users', 'People', 'users', 'p'],
      ['/keys', 'Keys and sessions', 'key', 'k'],
      ['/configuration', 'Configuration', 'settings', 'o'],
      ['/start', 'First steps', 'start', 't'],
      ['/guides', 'Guides', 'book', 'h'],
    ],
  ],
] as const satisfies readonly (readonly [
  string | undefined,
  readonly (readonly [string, string, IconName, string])[],
])[];

export const ALL_PLACES = PLACES.flatMap(([, places]) => [...places]);
export type Place = (typeof ALL_PLACES)[number][0];
