import './administration.ts'; // room-app
import './config.ts';
