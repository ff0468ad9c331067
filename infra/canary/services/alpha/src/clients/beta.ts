import '../store/things.ts'; // layer-clients
