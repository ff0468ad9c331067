import './config.ts'; // layer-description
