import type { Incident } from '@tocsin/sdk';
import { useEffect, useState } from 'react';
import { query } from '../api/query.ts';
import { useGet } from '../api/hooks.ts';

/** How many are found, at most. */
const SHOWN = 6;
/** Milliseconds without a key until incidents are searched. */
const PAUSE = 200;

/** The incidents that a search finds, in whatever status. */
export function useFoundIncidents(text: string): Incident[] {
  const [searched, setSearched] = useState('');
  useEffect(() => {
    const timer = window.setTimeout(() => setSearched(text.trim()), PAUSE);
    return () => window.clearTimeout(timer);
  }, [text]);
  const { data } = useGet<{ incidents: Incident[] }>(`/incidents${query({ q: searched, limit: SHOWN })}`, {
    enabled: searched !== '',
  });
  return searched === '' || text.trim() === '' ? [] : (data?.incidents ?? []);
}
