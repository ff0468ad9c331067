/**
 * The states of an incident's investigation, by its latest run, in the order of lists. The database stores the index in this
 * array: the column `incidents.diagnosis` is generated from the run's status.
 */
export const DIAGNOSES = ['not_run', 'in_progress', 'completed', 'needs_attention', 'unavailable'] as const;

export type Diagnosis = (typeof DIAGNOSES)[number];
