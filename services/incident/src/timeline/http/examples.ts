import type { z } from 'zod';
import type { timelineEvent } from './wire.ts';

export const timelineEventExample: z.input<typeof timelineEvent> = {
  id: 5,
  revision: 1,
  incident_id: 1,
  started_at: '2026-11-20T09:34:00.000Z',
  at: '2026-11-20T09:34:00.000Z',
  ended_at: null,
  is_ongoing: false,
  group_id: null,
  is_key: true,
  source: 'api',
  source_ref: '',
  type: 'mitigation',
  icon: '🔧',
  title: 'Rollback',
  body: 'Rolled back the release',
  collaboration_generation: 1,
  tags: ['deploy'],
  ai_context: '',
  created_by: '1',
  comment_count: 0,
  attachments: [],
  source_window_started_at: null,
  source_window_ended_at: null,
  evidence_links: [],
};
