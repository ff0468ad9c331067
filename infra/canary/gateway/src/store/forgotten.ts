// no-dead-file: no process comes by here
import { sessions } from './sessions.ts';

export const forgotten = sessions;
