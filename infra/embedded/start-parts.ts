/**
 * Starts something that has several parts.
 * @param start adds to `closing` what closes each part; `stop` closes them, the last one first. It runs if `start` fails.
 */
export async function startParts<Started>(
  start: (closing: (() => Promise<unknown>)[], stop: () => Promise<void>) => Promise<Started>,
): Promise<Started> {
  const closing: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    return await start(closing, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}
