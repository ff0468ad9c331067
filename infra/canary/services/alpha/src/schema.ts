import './config.ts'; // layer-schema
