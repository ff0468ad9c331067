/**
 * How far the investigation of an incident is, by its latest run, in the order of lists. A diagnosis is kept as its place
 * here: the column `incidents.diagnosis` is made from the run's status.
 */
export const DIAGNOSES = ['not_run', 'in_progress', 'completed', 'needs_attention', 'unavailable'] as const;

export type Diagnosis = (typeof DIAGNOSES)[number];
