import '../../messaging/src/index.ts'; // layer-http
