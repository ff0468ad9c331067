import '../../testing/src/index.ts'; // package-service
