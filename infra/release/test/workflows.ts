import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../../installation/environment.ts';

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

export interface Job {
  name: string;
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  defaults?: { run?: { shell?: string } };
  uses?: string;
  steps?: Step[];
}

export interface Workflow {
  file: string;
  text: string;
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  jobs: Job[];
}

const FOLDER = '.github/workflows';

/** All workflows of the repository. */
export const WORKFLOWS: Workflow[] = readdirSync(path.join(ROOT, FOLDER)).map((file) => {
  const text = readFileSync(path.join(ROOT, FOLDER, file), 'utf8');
  const { jobs, ...workflow } = parse(text) as Omit<Workflow, 'jobs'> & { jobs: Record<string, Omit<Job, 'name'>> };
  const named = Object.entries(jobs).map(([name, job]) => ({ ...job, name: `${file} ${name}` }));
  return { ...workflow, file, text, jobs: named };
});

export const JOBS = WORKFLOWS.flatMap(({ jobs }) => jobs);
