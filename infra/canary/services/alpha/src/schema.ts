import './config.ts'; // room-schema
