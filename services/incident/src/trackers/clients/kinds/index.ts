import type { Kind } from '../../domain/tracker.ts';
import { GITHUB } from './github.ts';
import { GITLAB } from './gitlab.ts';
import { JIRA } from './jira.ts';
import type { TrackerKind } from './kind.ts';
import { LINEAR } from './linear.ts';

export const KINDS_BY_NAME: Readonly<Record<Kind, TrackerKind>> = {
  ...{ github: GITHUB, jira: JIRA, gitlab: GITLAB, linear: LINEAR },
};
