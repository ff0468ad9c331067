// no-dead-file: no process reaches this file
import { sessions } from './sessions.ts';

export const forgotten = sessions;
