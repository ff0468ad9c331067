import '../../testing/src/index.ts'; // layer-service
