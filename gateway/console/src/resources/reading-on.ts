import { useEffect } from 'react';

/** Rows that are read at most to find some. */
const MAX_READ = 1_000;

/**
 * Reads a list on until enough of its rows are shown, where the API has no filter for them.
 * @param rows how many were read, and how many of them are shown; `enough` of them fill a page
 * @returns whether it still does
 */
export function useReadingOn(
  list: { hasNextPage: boolean; isFetching: boolean; isError: boolean; fetchNextPage: () => unknown },
  { isNeeded, read, shown, enough }: { isNeeded: boolean; read: number; shown: number; enough: number },
): boolean {
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  const isReadingOn = isNeeded && hasNextPage && !isError && shown < enough && read < MAX_READ;
  useEffect(() => {
    if (isReadingOn && !isFetching) void fetchNextPage();
  }, [isReadingOn, isFetching, fetchNextPage]);
  return isReadingOn;
}
