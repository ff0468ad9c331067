import path from 'node:path';
import { roomOf } from './rooms.ts';

export const ROOM_STORY = 'room-story';

/** Lines of a story. */
const LEAST = 5;
const MOST = 10;
/** The comment at the beginning of a file, if it begins with a name. */
const STORY = /^\/\*\*\n \* `([\w-]+)` ((?:.|\n)+?)\n \*\/\n/;

/**
 * Finds rooms whose story is missing, is told twice, or has too few or too many lines. One file of each room begins with
 * its story: a comment whose first word is the name of the room.
 */
export function checkStories(
  files: readonly string[],
  textOf: (file: string) => string,
): { rule: string; where: string }[] {
  const rooms = Map.groupBy(files, (file) => roomOf(file) ?? '');
  rooms.delete('');
  return [...rooms].flatMap(([room, filesOfRoom]) => {
    const name = path.posix.basename(room);
    const stories = filesOfRoom.flatMap((file) => {
      const [, first, story = ''] = STORY.exec(textOf(file)) ?? [];
      return first === name ? { file, lines: story.split('\n').length } : [];
    });
    if (stories.length !== 1) {
      const which = stories.length === 0 ? 'none' : stories.map(({ file }) => file).join(', ');
      return { rule: ROOM_STORY, where: `one file of ${room} begins with its story, and not ${which}` };
    }
    return stories
      .filter(({ lines }) => lines < LEAST || lines > MOST)
      .map(({ file, lines }) => ({
        rule: ROOM_STORY,
        where: `${file}: a story has ${LEAST} to ${MOST} lines, not ${lines}`,
      }));
  });
}
