/** A message of a stream; a message without data only moves the cursor. */
export interface StreamMessage {
  id: string | undefined;
  data: string | undefined;
}

/** Characters; the server sends no larger event. */
const LARGEST = 8 * 1024 * 1024;

/** Reads the messages of a stream. @param idle see `readText` */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  idle: { idle: number; onIdle: () => void },
): AsyncGenerator<StreamMessage, void, undefined> {
  for await (const text of readText(body, { end: '\n\n', ...idle })) yield messageOf(text);
}

/**
 * Reads the parts of a stream that end with `end`. What is behind the last one is dropped: it may be cut off.
 * @param onIdle is called when nothing has arrived for `idle` milliseconds while the reader waited
 */
export async function* readText(
  body: ReadableStream<Uint8Array>,
  { end, idle, onIdle }: { end: string; idle: number; onIdle: () => void },
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const timer = setTimeout(onIdle, idle);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      text += decoder.decode(value, { stream: true }).replaceAll('\r', '');
      if (text.length > LARGEST) throw new Error('a message of the stream is too large');
      const parts = text.split(end);
      text = parts.pop() ?? '';
      yield* parts;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function messageOf(text: string): StreamMessage {
  const lines = text.split('\n');
  const field = (name: string) =>
    lines
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trimStart();
  return { id: field('id'), data: field('data') };
}
