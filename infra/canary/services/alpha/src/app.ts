import './administration.ts'; // layer-app
import './config.ts';
