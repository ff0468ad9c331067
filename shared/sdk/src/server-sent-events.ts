/** A message of a stream; a message without data only moves the cursor. */
export interface StreamMessage {
  id: string | undefined;
  data: string | undefined;
}

/** Characters; the server sends no larger event. */
const LARGEST = 8 * 1024 * 1024;

/**
 * Reads the messages of a stream. What is not followed by an empty line at the end is dropped: it may be cut off.
 * @param onIdle is called when nothing has arrived for `idle` milliseconds while the reader waited
 */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  { idle, onIdle }: { idle: number; onIdle: () => void },
): AsyncGenerator<StreamMessage, void, undefined> {
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
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) yield messageOf(message);
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
