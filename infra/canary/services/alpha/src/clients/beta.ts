import '../store/things.ts'; // room-clients
